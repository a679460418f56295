import { connect } from 'node:net'
import { within } from '#platform/deadline'

type RawAnswer = { status: number; headers: Headers; body: string }

/** Sends a request and returns the response. Throws without one. */
export async function sendRaw(port: number, text: string): Promise<RawAnswer> {
  const socket = connect({ port, host: '127.0.0.1' })
  const chunks: Buffer[] = []
  const answered = new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      if (isWhole(Buffer.concat(chunks))) resolve()
    })
    socket.on('end', resolve).on('close', resolve).on('error', reject)
  })
  socket.write(Buffer.from(text, 'latin1'))
  await within(answered, 10_000, 'the response').finally(() => socket.destroy())
  return parsed(Buffer.concat(chunks))
}

const partsOf = (bytes: Buffer) => {
  const text = bytes.toString('latin1')
  const end = text.indexOf('\r\n\r\n')
  return { head: text.slice(0, end), rest: bytes.subarray(end + 4), isComplete: end >= 0 }
}

function isWhole(bytes: Buffer): boolean {
  const { head, rest, isComplete } = partsOf(bytes)
  const [, length] = /^content-length: (\d+)/im.exec(head) ?? []
  return isComplete && length !== undefined && rest.length >= Number(length)
}

function parsed(bytes: Buffer): RawAnswer {
  const { head, rest } = partsOf(bytes)
  const [first = '', ...lines] = head.split('\r\n')
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return { status: Number(first.split(' ')[1]), headers, body: rest.toString('utf8') }
}
