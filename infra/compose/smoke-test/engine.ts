import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitUntil } from '#infra/local/wait'
import { cutPower, isEngine, links, withoutEngine } from './power-cut'

/** `text` is stdout followed by stderr. */
export type Ran = { code: number; text: string; ms: number }
export type Where = { cwd?: string; env?: Readonly<Record<string, string>> }

export type Engine = {
  readonly dir: string
  readonly docker: (args: readonly string[], where?: Where) => Promise<Ran>
  /** Folder for a shell's PATH, with a `docker` that uses this engine. */
  readonly bin: string
  /** Kills the engine as a power cut would, and restarts it. */
  readonly reboot: () => Promise<void>
  readonly end: () => Promise<void>
}

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Never throws; check the exit code. */
export async function run(words: readonly string[], where: Where = {}): Promise<Ran> {
  const startedAt = Date.now()
  const child = Bun.spawn([...words], {
    cwd: where.cwd ?? '/',
    env: { PATH: process.env.PATH ?? path, HOME: '/root', TERM: 'dumb', ...where.env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([child.stdout, child.stderr].map((stream) => new Response(stream).text()))
  return { code: await child.exited, text: `${out}${err}`, ms: Date.now() - startedAt }
}

export async function must(words: readonly string[], where: Where = {}): Promise<Ran> {
  const ran = await run(words, where)
  if (ran.code !== 0) throw new Error(`${words.join(' ')}\n${ran.text.slice(-2_000)}`)
  return ran
}

const packages = 'docker.io docker-cli docker-compose docker-buildx iptables ca-certificates'
const small = 'busybox-static tini'
const mirror = 'http://deb.debian.org/debian'

/**
 * Opens this machine's engine, or installs one from Debian packages (as root; about four minutes
 * and 5 GB; `ENGINE_DIR` keeps it).
 */
export async function openEngine(say: (text: string) => void): Promise<Engine> {
  const own = await run(['docker', 'version', '--format', '{{.Server.Version}}'])
  if (own.code === 0) {
    say(`using this machine's engine ${own.text.trim()}`)
    const dir = join(tmpdir(), 'ausd-rehearsal')
    mkdirSync(dir, { recursive: true })
    const docker = (args: readonly string[], where?: Where) => run(['docker', ...args], where)
    const reboot = async () => {
      throw new Error("cannot restart this machine's engine: stop it, set ENGINE_DIR, run as root")
    }
    const end = async () => rmSync(dir, { recursive: true, force: true })
    return { dir, docker, bin: dir, reboot, end }
  }
  if (process.getuid?.() !== 0)
    throw new Error('no container engine responds: start one, or run as root to install one')
  const dir = process.env.ENGINE_DIR ?? join(tmpdir(), 'ausd-engine')
  const root = join(dir, 'engine')
  if (!existsSync(join(dir, 'installed'))) await install(dir, say)
  const pidFile = join(dir, 'dockerd.pid')
  const socket = `unix://${join(dir, 'sock/docker.sock')}`
  const docker = (args: readonly string[], { cwd = dir, env = {} }: Where = {}) => {
    const pid = readFileSync(pidFile, 'utf8').trim()
    const settings = Object.entries({
      PATH: path,
      HOME: '/root',
      TERM: 'dumb',
      DOCKER_HOST: socket,
      ...env,
    })
    const inside = ['nsenter', '-t', pid, '-m', '-r', '--wdns=/', 'env', '-i']
    const words = [...inside, ...settings.map(([name, value]) => `${name}=${value}`)]
    return run([...words, 'sh', '-c', 'cd "$0" && exec docker "$@"', cwd, ...args])
  }
  const bin = join(dir, 'bin')
  mkdirSync(bin, { recursive: true })
  const wrapper = `#!/bin/bash
exec nsenter -t "$(cat ${pidFile})" -m -r --wdns=/ env PATH=${path} HOME=/root DOCKER_HOST=${socket} \\
  sh -c 'cd "$0" && exec docker "$@"' "$PWD" "$@"\n`
  writeFileSync(join(bin, 'docker'), wrapper, { mode: 0o755 })
  const start = async () => {
    mkdirSync(join(dir, 'sock'), { recursive: true })
    mkdirSync(join(root, dir), { recursive: true })
    mkdirSync(join(root, '.old'), { recursive: true })
    // pivot_root, because healthchecks in a chroot would run in the host's root.
    const script = `set -e
      mount --bind ${root} ${root}
      for part in proc sys dev; do mount --rbind /$part ${root}/$part; done
      mount -t tmpfs tmpfs ${root}/run; mount --bind ${dir} ${root}${dir}
      cp /etc/resolv.conf ${root}/etc/resolv.conf
      cd ${root}; pivot_root . .old; cd /; umount -l /.old
      echo $$ > ${pidFile}
      exec /usr/sbin/dockerd --data-root /var/lib/docker --exec-root /run/docker \\
        --pidfile /run/docker.pid --host ${socket} > ${dir}/dockerd.log 2>&1`
    Bun.spawn(['setsid', 'unshare', '-m', '--propagation', 'private', 'bash', '-c', script], {
      stdio: ['ignore', 'ignore', 'ignore'],
    }).unref()
    await waitUntil('the engine', async () => (await docker(['info'])).code === 0, 30_000, 500)
  }
  const kill = async (signal: 'SIGKILL' | 'SIGTERM') => {
    const pid = Number(readFileSync(pidFile, 'utf8'))
    process.kill(pid, signal)
    await waitUntil('the engine being gone', () => !existsSync(`/proc/${pid}`), 30_000, 200)
  }
  if (existsSync(pidFile) && isEngine(Number(readFileSync(pidFile, 'utf8')), socket)) await kill('SIGTERM')
  cutPower() // Left over from a rehearsal that was killed.
  await start()
  say(`using engine ${(await docker(['version', '--format', '{{.Server.Version}}'])).text.trim()} ` + `in ${dir}`)
  const reboot = async () => {
    await kill('SIGKILL')
    cutPower()
    for (const name of links()) await run(['ip', 'link', 'delete', name])
    await start()
  }
  const end = async () => {
    await kill('SIGTERM')
    cutPower()
    for (const name of links()) await run(['ip', 'link', 'delete', name])
    for (const tool of ['iptables', 'ip6tables']) {
      const { text } = await run(['chroot', root, `${tool}-save`])
      await run(['chroot', root, 'sh', '-c', `printf %s "$0" | ${tool}-restore`, withoutEngine(text)])
    }
  }
  return { dir, docker, bin, reboot, end }
}

async function install(dir: string, say: (text: string) => void): Promise<void> {
  mkdirSync(dir, { recursive: true })
  say('no container engine responds: installing one from Debian packages')
  if (!Bun.which('debootstrap')) {
    await must(['apt-get', 'update', '-qq'])
    await must(['apt-get', 'install', '-y', '-qq', 'debootstrap'])
  }
  const roots = [
    ['sid', 'engine'],
    ['trixie', 'base-trixie'],
    ['sid', 'base-sid'],
  ]
  await Promise.all(
    roots.map(([suite = '', name = '']) => must(['debootstrap', '--variant=minbase', suite, join(dir, name), mirror])),
  )
  const root = join(dir, 'engine')
  // Keeps packages from starting services during installation.
  writeFileSync(join(root, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  const apt = ['chroot', root, 'apt-get', '-o', 'Acquire::Check-Valid-Until=false']
  await must([...apt, 'update', '-qq'])
  const list = `${packages} ${small}`.split(' ')
  await must([...apt, 'install', '-y', '-qq', '--no-install-recommends', ...list])
  writeFileSync(join(dir, 'installed'), '')
}
