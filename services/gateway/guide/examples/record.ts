import { okOf, openVisitor } from 'ausd-credit-client'

// The record is public, so it needs no wallet or session.
const visitor = openVisitor({ baseUrl: process.env.BASE_URL ?? '' })
const record = okOf(await visitor.record(process.env.WALLET ?? ''))

console.log(`score ${record.score}, ${record.cycles} closed cycles`)
for (const cycle of record.history?.cycles ?? []) console.log(`cycle ${cycle.number}: ${cycle.outcome ?? 'open'}`)
