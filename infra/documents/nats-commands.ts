import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { repositoryDir } from '#infra/local/folders'

const pages = ['*.md', '.github/*.md', '{services,shared,infra,test}/**/*.md', 'infra/compose.yaml']

/** First words of a command. Other words do not begin one: `nats unavailable` is a log line. */
const heads = 'account|consumer|context|events|kv|latency|micro|req|rtt|server|stream|sub'
const command = new RegExp(`(?<![\\w-])(?:bus|nats) ((?:${heads})\\b[^\`#\\n]*)`, 'g')

/**
 * Returns the commands of the documents, without the program name (`bus` in the runbook) and without those that create
 * a context.
 */
export function natsCommands(): string[] {
  const paths = pages.flatMap((glob) => [...new Glob(glob).scanSync({ cwd: repositoryDir, dot: true })])
  const named = paths.flatMap((path) =>
    [...readFileSync(join(repositoryDir, path), 'utf8').matchAll(command)].map(([, words = '']) => words.trim()),
  )
  return [...new Set(named)].filter((words) => !words.startsWith('context ')).sort()
}
