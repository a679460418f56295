import type { Row } from './rows'

const head = `# Configuration

Every variable of every process, generated from the \`fields\` of each \`config.ts\` with \`bun run configuration\`. A process reads
the whole of it before it opens anything, and ends with every fault in one message. An empty variable counts as not set; a value
may be given in a file named by \`<NAME>_FILE\`, as compose secrets do. \`compose\` reads its variables from the env file and hands the
others on; \`NATS_PASSWORD\` and \`DATABASE_URL\` of a service it makes from \`NATS_PASSWORD_<SERVICE>\` and \`DATABASE_PASSWORD_<ROLE>\`.
A variable that services explain or preset differently has a line for each. The sandbox has a table of its own in
[sandbox/README.md](sandbox/README.md), nats-server in [nats/README.md](nats/README.md).
`

const cell = (text: string) => text.replaceAll('|', '\\|')
const code = (text: string) => (text === '' ? '(empty)' : `\`${cell(text)}\``)

const lineOf = (row: Row): string =>
  [
    '',
    code(row.name),
    cell(row.type),
    row.fallback === undefined ? '**required**' : code(row.fallback),
    row.readers.join(', '),
    row.secret ? 'yes' : '',
    cell(row.about),
    '',
  ]
    .join(' | ')
    .trim()

/** The whole of CONFIGURATION.md. */
export const tableOf = (rows: readonly Row[]): string =>
  [
    head,
    '| Variable | Type | Default | Read by | Secret | About |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows.map(lineOf),
    '',
  ].join('\n')
