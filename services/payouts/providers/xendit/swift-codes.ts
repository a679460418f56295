/**
 * SWIFT codes of Indonesian banks, by which payouts v3 address them: one integrator's calls in test
 * mode of July 2026 went through in this way, and the reference shows no other for rupiah. Nobody has
 * held the codes against swift.com's directory yet: do so before v3 is used, a wrong one pays another
 * bank. A bank that is missing here cannot be paid by v3.
 */
const codes: ReadonlyMap<string, string> = new Map([
  ['ID_BCA', 'CENAIDJA'],
  ['ID_BRI', 'BRINIDJA'],
  ['ID_BNI', 'BNINIDJA'],
  ['ID_MANDIRI', 'BMRIIDJA'],
  ['ID_PERMATA', 'BBBAIDJA'],
  ['ID_CIMB', 'BNIAIDJA'],
  ['ID_BSI', 'BSMDIDJA'],
  ['ID_BTN', 'BTANIDJA'],
  ['ID_DANAMON', 'BDINIDJA'],
  ['ID_DBS', 'DBSBIDJA'],
  ['ID_OCBC', 'NISPIDJA'],
  ['ID_PANIN', 'PINBIDJA'],
  ['ID_UOB', 'BBIJIDJA'],
  ['ID_MAYBANK', 'IBBKIDJA'],
  ['ID_MEGA', 'MEGAIDJA'],
  ['ID_SINARMAS', 'SBJKIDJA'],
  ['ID_MUAMALAT', 'MUABIDJA'],
  ['ID_BJB', 'PDJBIDJA'],
])

/** Undefined for a bank whose code we do not know. */
export const swiftCodeOf = (channelCode: string): string | undefined => codes.get(channelCode)
