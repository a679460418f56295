import type { LocalAccount } from 'viem'

/** Signs in as the interface specification says: one signature, good until `until` (unix seconds). */
export async function signIn(account: LocalAccount, until: number): Promise<string> {
  const wallet = account.address.toLowerCase()
  const message = `Sign in to Service\n${wallet}\nuntil ${until}`
  return `Service ${wallet}.${until}.${await account.signMessage({ message })}`
}
