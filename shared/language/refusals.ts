import { refusals } from '#shared/declared-refusals'
import type { Text } from '#shared/language/language'
import { type RefusalCode, refusalCodes } from '#shared/refusals'

/** Texts of refusals, by code. */
export const refusalTexts = Object.fromEntries(refusalCodes.map((code) => [code, refusals[code].text])) as Readonly<
  Record<RefusalCode, Text>
>
