import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'
import { readWords, refuseWords } from '#infra/local/words'

const generators: Readonly<Record<string, readonly string[]>> = {
  contracts: ['infra/contracts/compile.ts'],
  client: ['infra/client/build.ts'],
  migrations: ['infra/migrations/generate.ts'],
  permissions: ['infra/nats/users-file.ts'],
  configuration: ['infra/configuration/write.ts'],
  documents: ['infra/documents/write.ts', 'test/prove/document.ts'],
}

const usage = `usage: bun run generate [${Object.keys(generators).join('|')}]

  contracts        artifacts and ABIs from the Solidity sources
  client           the package of the client, from shared/client
  migrations NAME  a migration called NAME for each schema whose tables have changed
  permissions      the users of nats-server from the message catalogue
  configuration    env.example from every config.ts
  documents        the tables in documents that code knows

Without a name: everything but migrations.`

const [name, ...words] = readWords(usage, { allowPositionals: true }).positionals
const wordsMax = name === 'migrations' ? 1 : 0
if (words.length > wordsMax) refuseWords(`unknown argument: ${words[wordsMax]}`, usage)
const chosen = name ? [name] : Object.keys(generators).filter((one) => one !== 'migrations')
for (const one of chosen) {
  const scripts = generators[one]
  if (!scripts) refuseWords(`unknown generator: ${one}`, usage)
  for (const script of scripts) {
    const run = Bun.spawnSync([process.execPath, join(repositoryDir, script), ...words], {
      stdio: ['inherit', 'inherit', 'inherit'],
    })
    if (!run.success) process.exit(1)
  }
}
