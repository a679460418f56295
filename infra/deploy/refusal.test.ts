import { describe, expect, test } from 'bun:test'
import { at, complete, line, token, wanted } from '#test/support/deploy/facts'
import type { TokenFacts } from './facts'
import { planFrom } from './plan'
import { chainRefusals } from './refusal'

const domainWith = (more: object) =>
  ({ token: { ...token, domain: { ...token.domain, ...more } } }) as { token: TokenFacts }

describe('contracts', () => {
  test.each([
    ['are accepted if they match', {}, /^$/],
    ['are accepted with a credit line that cannot repay automatically', { line: { ...line, version: 3n } }, /^$/],
    ['without a token', { token: { ...token, hasCode: false } }, /no contract at AUSD_ADDRESS/],
    ['with something else for a token', { token: { ...token, domain: null } }, /this is not AUSD/],
    ['with another domain name', domainWith({ name: 'AUSD' }), /the name "AUSD", not "Agora D/],
    ['with another domain version', domainWith({ version: '2' }), /the version "2", not "1"/],
    ['with the domain of another chain', domainWith({ chainId: 1n }), /the chainId "1", not "10143"/],
    ['with the domain of another token', domainWith({ verifyingContract: at('9') }), /verifyingContract/],
    ['with another separator', { token: { ...token, separator: at('9') } }, /DOMAIN_SEPARATOR/],
    ['without a credit line', { line: { ...line, hasCode: false } }, /correct CREDIT_LINE_ADDRESS/],
    ['with something else for one', { line: { ...line, token: null } }, /is not a credit line/],
    [
      'with an older credit line',
      { line: { ...line, version: null } },
      /older than 2\), but the services need version 3 or 4/,
    ],
    [
      'with a later credit line',
      { line: { ...line, version: 5n } },
      /is version 5, .* need version 3 or 4: to deploy a new one/,
    ],
    ['with a credit line of another token', { line: { ...line, token: at('9') } }, /set AUSD_ADDRESS/],
    ['with a credit line of another treasury', { line: { ...line, treasury: at('9') } }, /set TREASURY_KEY/],
  ] as const)('%s', (_case, facts, words) => {
    const plan = planFrom({ ...complete, ...facts }, { ...wanted, treasuryAusdMicro: 9_999n })
    expect(plan.refusals.join('\n')).toMatch(words)
    expect(plan.todos.length > 0).toBe(plan.refusals.length === 0)
  })
})

describe('the chain', () => {
  const { chainId, genesisHash } = complete
  const anvil = { ...complete, isAnvil: true }
  const book = { chainId, genesisHash, creditLine: line.address }
  const another = { ...book, genesisHash: '0xbb' } as const
  test.each([
    ['fits, with nothing recorded', complete, {}, null, /^$/],
    ['fits the record', complete, {}, book, /^$/],
    ['has another id', complete, { chainId: 1 }, null, /chain 10143, CHAIN_ID is 1/],
    ['has another genesis', complete, { genesisHash: '0xbb' }, null, /set GENESIS_HASH/],
    ['has the genesis', complete, { genesisHash }, null, /^$/],
    ['is not that of the record', complete, {}, another, /move the file away/],
    ['may forget, if it is an anvil for tests', anvil, { testFunds: true }, another, /^$/],
    ['may not forget, if it is any anvil', anvil, {}, another, /move the file away/],
    ['may not forget, if it is no anvil', complete, { testFunds: true }, another, /move the file/],
    ['has two credit lines', complete, { creditLine: at('9') }, book, /remove the variable/],
    ['has one credit line, named twice', complete, { creditLine: line.address }, book, /^$/],
  ] as const)('the chain %s', (_case, chain, more, recorded, words) => {
    expect(chainRefusals(chain, { ...wanted, ...more }, recorded).join('\n')).toMatch(words)
  })
})
