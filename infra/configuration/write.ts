import { writeFileSync } from 'node:fs'
import { example, examplePath } from './documents'

writeFileSync(examplePath, example())
console.log('wrote infra/env.example')
