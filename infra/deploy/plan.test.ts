import { describe, expect, test } from 'bun:test'
import { parseEther } from 'viem'
import { testAusd } from '#shared/chain/chain-id'
import { ausd, complete, lane, line, rich, token, treasury, wanted } from '#test/support/deploy/facts'
import type { DeployFacts, LineFacts } from './facts'
import { type Plan, planFrom } from './plan'
import { wordsOf } from './todo'
import type { WantedDeployment } from './wanted'

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

describe('the planned steps are', () => {
  test.each<[string, Partial<DeployFacts>, Partial<WantedDeployment>, string]>([
    ['none if the deployment is complete', {}, {}, ''],
    ['none if the wanted test funds exist', onAnvil, testFunds, ''],
    ['roles of a new lane', lineWith({ rolesMissing: bothRoles }), {}, 'grant grant'],
    ['no role without the right to grant', lineWith({ rolesMissing: bothRoles, adminHasRole: false }), {}, ''],
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
    ['none while no account can pay for the credit line', { line: null, ...poor }, {}, ''],
    [
      "the treasury's steps if the admin cannot pay",
      { ...lineWith({ treasuryAllowanceMicro: 0n, rolesMissing: bothRoles }), ...poor },
      {},
      'approve_credit_line',
    ],
    [
      "the pool from the admin's own AUSD",
      { ...lineWith({ liquidityMicro: 200n }), admin: adminWith(300n) },
      {},
      'approve_funding fund_liquidity',
    ],
    [
      'the pool from an existing allowance',
      { ...lineWith({ liquidityMicro: 200n, adminAllowanceMicro: 300n }), admin: adminWith(300n) },
      {},
      'fund_liquidity',
    ],
    [
      'none for the pool if the admin holds too little',
      { ...lineWith({ liquidityMicro: 200n }), admin: adminWith(299n) },
      {},
      '',
    ],
    [
      'minting if the admin may mint',
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
    ['no native coin unless test funds are wanted', { ...onAnvil, ...poor, hasMulticall: false }, {}, ''],
    ['no native coin on a real chain', { ...poor, hasMulticall: false }, testFunds, ''],
  ])('the planned steps are %s', (_case, facts, more, steps) => {
    expect(stepsOf(planFrom({ ...complete, ...facts }, { ...wanted, ...more }))).toBe(steps)
  })
})

describe('the list of manual tasks', () => {
  test.each<[string, Partial<DeployFacts>, RegExp]>([
    ['is empty if the deployment is complete', {}, /^$/],
    [
      'requests the native coin a lane lacks',
      { lanes: [{ address: lane, wei: parseEther('9.5'), ausdMicro: 0n }] },
      /^send 2.5 MON to lane 0x5{40}: it holds 9.5, LANE_WEI requires 12$/,
    ],
    [
      'sends the admin gas for its steps',
      { ...poor, ...lineWith({ rolesMissing: bothRoles }) },
      /^send 0.08 MON to admin 0x3{40}: for gas$/,
    ],
    ['requests no gas for accounts without steps', poor, /^$/],
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
  ])('the list of manual tasks %s', (_case, facts, words) => {
    expect(todosOf(planFrom({ ...complete, ...facts }, wanted))).toMatch(words)
  })

  test('the list of manual tasks names the faucet only for the real AUSD', () => {
    const todo = { send: 'ausd', to: treasury, who: 'treasury', amount: 1n, why: 'x' } as const
    expect(wordsOf(todo, testAusd)).toContain('requestFunds')
    expect(wordsOf(todo, ausd)).not.toContain('requestFunds')
  })
})
