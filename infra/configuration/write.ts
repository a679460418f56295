import { writeFileSync } from 'node:fs'
import { documents, examplePath, tablePath } from './documents'

const { table, example } = documents()
writeFileSync(tablePath, table)
writeFileSync(examplePath, example)
console.log('wrote infra/CONFIGURATION.md and infra/env.example')
