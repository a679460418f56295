import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'
import { runCommand } from '#platform/command'

const files = [
  'infra/compose.yaml',
  'infra/compose/local.yaml',
  'infra/Dockerfile',
  'infra/kubernetes/engines/postgres.yaml',
]

const image = /^(\s*(?:image|imageName): |FROM )([a-z0-9][a-z0-9./-]*:[\w.-]+)(@sha256:[0-9a-f]{64})?/gm

export const unpinnedIn = (text: string): string[] =>
  [...text.matchAll(image)].flatMap(([, , name, digest]) => (digest ? [] : [name!]))

export async function pinned(text: string, digestOf: (name: string) => Promise<string>): Promise<string> {
  const names = new Set([...text.matchAll(image)].map(([, , name]) => name!))
  const digests = new Map<string, string>()
  for (const name of names) {
    const digest = await digestOf(name)
    if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`${name}: no digest in "${digest}"`)
    digests.set(name, digest)
  }
  return text.replace(image, (_, before, name) => `${before}${name}@${digests.get(name)}`)
}

async function digestOf(name: string): Promise<string> {
  const words = ['docker', 'buildx', 'imagetools', 'inspect', name]
  const run = Bun.spawn([...words, '--format', '{{.Manifest.Digest}}'], { stderr: 'pipe' })
  const [said, complaint] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
  if ((await run.exited) !== 0) throw new Error(`${name}: ${complaint.trim()}`)
  return said.trim()
}

/** `--write` pins every image; without it, lists unpinned images and exits 1 if there are any. */
async function main(write: boolean): Promise<number> {
  let missing = 0
  for (const file of files) {
    const path = join(repositoryDir, file)
    const text = readFileSync(path, 'utf8')
    if (write) writeFileSync(path, await pinned(text, digestOf))
    else
      for (const name of unpinnedIn(text)) {
        console.log(`${file}: ${name} has no digest`)
        missing++
      }
  }
  return missing > 0 ? 1 : 0
}

if (import.meta.main)
  await runCommand(
    () => [],
    () => main(process.argv.includes('--write')),
  )
