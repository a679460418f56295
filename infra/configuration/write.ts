import { writeFileSync } from 'node:fs'
import { exampleDocument, examplePath } from './documents'

writeFileSync(examplePath, exampleDocument())
console.log('wrote infra/env.example')
