/**
 * SWIFT codes, the addresses of banks in payouts v3. An integrator's test-mode calls of July 2026 succeeded
 * with such codes. Verify them in swift.com's directory before using v3: a wrong one pays another bank.
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

export const swiftCodeOf = (channelCode: string): string | undefined => codes.get(channelCode)
