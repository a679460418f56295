import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'

const generators: Readonly<Record<string, readonly string[]>> = {
  contracts: ['infra/contracts/compile.ts'],
  migrations: ['infra/migrations/generate.ts'],
  permissions: ['infra/nats/users-file.ts'],
  configuration: ['infra/configuration/write.ts'],
  documents: ['infra/documents/write.ts', 'test/prove/document.ts'],
}

const usage = `bun run generate [${Object.keys(generators).join('|')}]

  contracts        artifacts and ABIs from the Solidity sources
  migrations NAME  a migration called NAME for each schema whose tables have changed
  permissions      the users of nats-server from the message catalogue
  configuration    env.example from every config.ts
  documents        the tables in documents that code knows

Without a name: everything but migrations.`

const [name, ...words] = process.argv.slice(2)
const chosen = name ? [name] : Object.keys(generators).filter((one) => one !== 'migrations')
for (const one of chosen) {
  const scripts = generators[one]
  if (!scripts) {
    console.error(`${one} is unknown.\n\n${usage}`)
    process.exit(2)
  }
  for (const script of scripts) {
    const run = Bun.spawnSync([process.execPath, join(repositoryDir, script), ...words], {
      stdio: ['inherit', 'inherit', 'inherit'],
    })
    if (!run.success) process.exit(1)
  }
}
