/** Also in run.sh, and the version of `bun-types`. */
export const triedBun = '1.4.5'

/**
 * How the user of a Bun at this path runs a script of package.json. `isOnPath`: whether their shell finds a
 * `bun`. In a Bun that run.sh has put into this folder, only npx finds it.
 */
export function runnerOf(path: string, isOnPath: boolean): string {
  if (/\/node_modules\/\.bun-[^/]+\//.test(path)) return 'npx bun run'
  if (path.includes('/_npx/')) return `npx -y bun@${triedBun} run`
  return isOnPath ? 'bun run' : `${path} run`
}

export const bunRun = runnerOf(process.execPath, Bun.which('bun') !== null)
