import { randomUUID } from 'node:crypto'

const sane = /^[A-Za-z0-9._:-]{8,64}$/

/** The caller's own id when it is sane (it goes into logs and message headers), else a new one. */
export const requestIdFrom = (header: string | null): string =>
  header !== null && sane.test(header) ? header : randomUUID()
