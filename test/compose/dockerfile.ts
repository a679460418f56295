import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { infraDir } from '#infra/compose/composition'

/** An instruction with its continuation lines joined: `{ word: 'COPY', rest: 'shared shared' }`. */
export type Instruction = { word: string; rest: string }
export type Stage = { image: string; name: string | undefined; instructions: Instruction[] }
export type Copy = { sources: string[]; target: string }

/** Reads a Dockerfile. Throws on an unknown instruction. */
export function readDockerfile(text: string): Stage[] {
  const stages: Stage[] = []
  const lines = text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  for (const line of lines) {
    const [, word = '', rest = ''] = /^([A-Z]+)\s+(.+)$/.exec(line) ?? []
    if (!known.has(word)) throw new Error(`not an instruction: ${line}`)
    if (word === 'FROM') {
      const [, image = '', name] = /^(\S+)(?:\s+AS\s+(\S+))?$/.exec(rest) ?? []
      stages.push({ image, name, instructions: [] })
    } else stages.at(-1)!.instructions.push({ word, rest })
  }
  return stages
}

const known = new Set('FROM WORKDIR COPY RUN ENV USER STOPSIGNAL ENTRYPOINT CMD'.split(' '))

/** Returns the stage that the services run in, and that others only add to. */
export const servicesStage = (): Stage => ourStages().find(({ name }) => name === 'services')!

export const ourStages = (): Stage[] => readDockerfile(readFileSync(join(infraDir, 'Dockerfile'), 'utf8'))

/** Returns the paths that a stage copies from the repository, not from another stage. */
export const copiesOf = ({ instructions }: Stage): Copy[] =>
  instructions
    .filter(({ word, rest }) => word === 'COPY' && !rest.startsWith('--from='))
    .map(({ rest }) => {
      const words = rest.split(/\s+/)
      return { sources: words.slice(0, -1), target: words.at(-1)! }
    })

/** Returns a test for ignored paths, in which the last matching line decides. */
export function readIgnore(text: string): (path: string) => boolean {
  const rules = text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const admits = line.startsWith('!')
      const pattern = admits ? line.slice(1) : line
      return { admits, globs: [new Glob(pattern), new Glob(`${pattern}/**`)] }
    })
  return (path) => rules.findLast(({ globs }) => globs.some((glob) => glob.match(path)))?.admits ?? true
}

export const isSent = readIgnore(readFileSync(join(infraDir, 'Dockerfile.dockerignore'), 'utf8'))
