// A message of PostgreSQL's protocol, version 3, has a letter, the length of the rest, and the rest.

/** A message; the client's first one has no letter. */
export type WireMessage = { readonly letter: string; readonly bytes: Buffer }

export function openCutter(options: { startsBare: boolean }) {
  let rest: Buffer = Buffer.alloc(0)
  let isBare = options.startsBare
  return (arrived: Buffer): WireMessage[] => {
    rest = rest.length === 0 ? arrived : Buffer.concat([rest, arrived])
    const messages: WireMessage[] = []
    for (;;) {
      const head = isBare ? 0 : 1
      if (rest.length < head + 4) return messages
      const length = head + rest.readUInt32BE(head)
      if (rest.length < length) return messages
      const letter = isBare ? '' : String.fromCharCode(rest[0]!)
      messages.push({ letter, bytes: rest.subarray(0, length) })
      rest = rest.subarray(length)
      isBare = false
    }
  }
}

export function simpleQuery(text: string): Buffer {
  const body = Buffer.from(`${text}\0`)
  const head = Buffer.alloc(5)
  head.write('Q')
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const textFrom = (bytes: Buffer, from: number): { text: string; end: number } => {
  const end = bytes.indexOf(0, from)
  return { text: bytes.toString('utf8', from, end), end: end + 1 }
}

export const textOfQuery = ({ bytes }: WireMessage): string => textFrom(bytes, 5).text

/** Reads the statement's name and text from a Parse message. */
export function readParse({ bytes }: WireMessage): { name: string; text: string } {
  const name = textFrom(bytes, 5)
  return { name: name.text, text: textFrom(bytes, name.end).text }
}

export const statementOfBind = ({ bytes }: WireMessage): string => textFrom(bytes, textFrom(bytes, 5).end).text

/** Returns the server's process id for this connection. */
export const processOfKeyData = ({ bytes }: WireMessage): number => bytes.readInt32BE(5)

/** Returns the status of a transaction. `I`: none, `T`: open, `E`: failed. */
export const statusOfReady = ({ bytes }: WireMessage): string => String.fromCharCode(bytes[5]!)

/** Message that makes the server send the answers that it has. */
export const flush: Buffer = Buffer.from('H\0\0\0\x04')

/** Message that reports the server as ready, outside of any transaction. */
export const readyOutside: Buffer = Buffer.from('Z\0\0\0\x05I')
