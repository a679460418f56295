import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const { EVENTS_SECRET, PORT = '8080' } = process.env
if (!EVENTS_SECRET) throw new Error('set EVENTS_SECRET')
const key = Buffer.from(EVENTS_SECRET.replace('whsec_', ''), 'base64')

/** Age in seconds above which a call may be a replay. */
const ageMax = 300

function isSigned(id: string, at: string, body: string, signatures: string): boolean {
  if (!(Math.abs(Date.now() / 1_000 - Number(at)) < ageMax)) return false
  const right = Buffer.from(`v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`)
  // During a rotation there are two signatures.
  return signatures.split(' ').some((one) => one.length === right.length && timingSafeEqual(Buffer.from(one), right))
}

/** Replace this with a table that has a row for each id, written in the transaction that handles the event. */
const handled = new Set<string>()

createServer(async (request, response) => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  const body = Buffer.concat(parts).toString() // The signature is of these bytes: check it before you parse them.
  const header = (name: string) => String(request.headers[`webhook-${name}`] ?? '')
  const id = header('id')
  if (!isSigned(id, header('timestamp'), body, header('signature'))) return response.writeHead(401).end()
  if (!handled.has(id)) {
    const { type, data } = JSON.parse(body)
    console.log(`${id} ${type} ${data.wallet}`)
    handled.add(id)
  }
  response.writeHead(204).end()
}).listen(Number(PORT), '127.0.0.1')
