const installMs = 300_000

export async function installPeer(dir: string): Promise<void> {
  const words = ['install', '--no-audit', '--no-fund', '--loglevel=error']
  const child = Bun.spawn([binary('npm'), ...words], {
    cwd: dir,
    stdout: 'ignore',
    stderr: 'pipe',
    timeout: installMs,
  })
  const complaint = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`npm: ${complaint.trim().slice(0, 300)}`)
}

export const nodeBinary = () => binary('node')

function binary(name: string): string {
  const path = Bun.which(name)
  if (!path) throw new Error(`${name} is not on the PATH; peers need it`)
  return path
}
