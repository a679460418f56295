import { StillInFlight } from 'ausd-credit-client'
import { client } from './setup'

const [id = ''] = process.argv.slice(2)
try {
  const item = await client.waitFor(id, { deadlineMs: 120_000 })
  console.log(`${item.kind} ${item.status}: ${item.sentence}`)
} catch (error) {
  if (!(error instanceof StillInFlight)) throw error
  console.log(`${id} is still ${error.item?.status}: check again later, nothing is lost`)
}
