import { describe, expect, test } from 'bun:test'
import { parseEther } from 'viem'
import {
  ausd,
  complete,
  lane,
  line,
  rich,
  token,
  treasury,
  wanted,
} from '#test/support/deploy/facts'
import { realAusd } from './config'
import type { Facts, LineFacts } from './facts'
import { type Plan, planFrom } from './plan'
import { wordsOf } from './todo'
import type { Wanted } from './wanted'

const adminWith = (ausdMicro: bigint, wei = rich) => ({ ...complete.admin, ausdMicro, wei })
const lineWith = (more: Partial<LineFacts>) => ({ line: { ...line, ...more } })
const bothRoles = [
  { lane, role: 'RELAYER_ROLE' },
  { lane, role: 'VERIFIER_ROLE' },
] as const
const poor = { admin: adminWith(0n, 0n) }
const onAnvil = { isAnvil: true }
const testFunds = { testFunds: true }
const mintable = { token: { ...token, mintable: true } }

const stepsOf = (plan: Plan) => plan.steps.map((step) => step.do).join(' ')
const todosOf = (plan: Plan) => plan.todos.map((todo) => wordsOf(todo, ausd)).join('\n')

describe('the steps', () => {
  test.each<[string, Partial<Facts>, Partial<Wanted>, string]>([
    ['none when all is there', {}, {}, ''],
    ['none again when funds for tests are wanted and there', onAnvil, testFunds, ''],
    ['roles of a new lane', lineWith({ rolesMissing: bothRoles }), {}, 'grant grant'],
    [
      'no role without the right to grant',
      lineWith({ rolesMissing: bothRoles, adminHasRole: false }),
      {},
      '',
    ],
    ['the allowance', lineWith({ treasuryAllowanceMicro: 5n }), {}, 'approve_credit_line'],
    [
      'a credit line',
      { line: null, admin: adminWith(500n) },
      {},
      'deploy_credit_line grant grant approve_credit_line approve_funding fund_liquidity',
    ],
    [
      'all of it',
      { token: null, line: null },
      { ...testFunds, ausd: 'deploy' },
      'deploy_ausd deploy_credit_line grant grant approve_credit_line mint approve_funding fund_liquidity',
    ],
    ['nothing while nobody can pay for the credit line', { line: null, ...poor }, {}, ''],
    [
      'what the treasury can pay when the admin cannot',
      { ...lineWith({ treasuryAllowanceMicro: 0n, rolesMissing: bothRoles }), ...poor },
      {},
      'approve_credit_line',
    ],
    [
      'the pool out of what the admin holds',
      { ...lineWith({ liquidityMicro: 200n }), admin: adminWith(300n) },
      {},
      'approve_funding fund_liquidity',
    ],
    [
      'the pool under an allowance that is left',
      { ...lineWith({ liquidityMicro: 200n, adminAllowanceMicro: 300n }), admin: adminWith(300n) },
      {},
      'fund_liquidity',
    ],
    [
      'no part of what the pool wants',
      { ...lineWith({ liquidityMicro: 200n }), admin: adminWith(299n) },
      {},
      '',
    ],
    [
      'minting where we may',
      { ...mintable, ...lineWith({ liquidityMicro: 0n }) },
      testFunds,
      'mint approve_funding fund_liquidity',
    ],
    ['no minting unless asked for', { ...mintable, ...lineWith({ liquidityMicro: 0n }) }, {}, ''],
    ['no minting of a token that is not ours', lineWith({ liquidityMicro: 0n }), testFunds, ''],
    [
      'native coin and Multicall3 of an anvil',
      { ...onAnvil, ...poor, hasMulticall: false },
      testFunds,
      'install_multicall3 give_native',
    ],
    ['no such gift unless asked for', { ...onAnvil, ...poor, hasMulticall: false }, {}, ''],
    ['no such gift on a real chain', { ...poor, hasMulticall: false }, testFunds, ''],
  ])('%s', (_case, facts, more, steps) => {
    expect(stepsOf(planFrom({ ...complete, ...facts }, { ...wanted, ...more }))).toBe(steps)
  })
})

describe('the to-do list', () => {
  test.each<[string, Partial<Facts>, RegExp]>([
    ['is empty when all is there', {}, /^$/],
    [
      'sends a lane what it lacks',
      { lanes: [{ address: lane, wei: parseEther('9.5'), ausdMicro: 0n }] },
      /^send 2.5 MON to lane 0x5{40}: it holds 9.5, LANE_WEI requires 12$/,
    ],
    [
      'sends the admin gas for its steps',
      { ...poor, ...lineWith({ rolesMissing: bothRoles }) },
      /^send 0.08 MON to admin 0x3{40}: for gas$/,
    ],
    ['sends nobody gas who has nothing to send', poor, /^$/],
    [
      'sends the treasury AUSD',
      { treasury: { ...complete.treasury, ausdMicro: 1n } },
      /^send 0.000999 AUSD to treasury 0x4{40}/,
    ],
    [
      'sends the admin AUSD for the pool',
      { ...lineWith({ liquidityMicro: 100n }), admin: adminWith(150n) },
      /^send 0.00025 AUSD to admin 0x3{40}/,
    ],
    [
      'asks for a role we may not grant',
      lineWith({ rolesMissing: [bothRoles[0]], adminHasRole: false }),
      /its admin must grant RELAYER_ROLE to lane 0x5{40}, calldata 0x2f2ff15d/,
    ],
    ['ends a pause', lineWith({ isPaused: true }), /unpause\(\)/],
    ['wants the deploy block', lineWith({ deployBlock: null }), /^set DEPLOY_BLOCK/],
    ['wants Multicall3', { hasMulticall: false }, /^no Multicall3/],
  ])('%s', (_case, facts, words) => {
    expect(todosOf(planFrom({ ...complete, ...facts }, wanted))).toMatch(words)
  })

  test('names the faucet of the real AUSD alone', () => {
    const todo = { send: 'ausd', to: treasury, who: 'treasury', amount: 1n, why: 'x' } as const
    expect(wordsOf(todo, realAusd)).toContain('requestFunds')
    expect(wordsOf(todo, ausd)).not.toContain('requestFunds')
  })
})
