import { okOf } from 'ausd-credit-client'
import { client } from './setup'

const left = new AbortController()
process.once('SIGTERM', () => left.abort()) // In an app: when the page is left.

async function show() {
  const { items } = okOf(await client.activity({ limit: 5 }))
  console.log(items.map(({ kind, status }) => `${kind} ${status}`).join(', '))
}
await client.watch(() => void show().catch(console.error), { signal: left.signal })
