import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { errorCodes } from '#shared/refusals'
import { fixtureOf } from '../test-support/fixture'

const fixture = await fixtureOf()
const base = 'http://127.0.0.1:3000'
const get = async (path: string) => {
  const answer = await fixture.call('GET', path)
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}
const index = await get('/docs/guide')
const paths = [...new Set([...index.text.matchAll(/href="(\/docs\/guide[a-z/-]*)"/g)])].map(([, path]) => path!)
const distinct = [...new Set(paths)]
const examples = readdirSync(join(import.meta.dir, 'examples'))

describe('every page of the guide', () => {
  test('is listed on the first page', () => {
    expect(distinct.length).toBeGreaterThanOrEqual(11)
  })

  test.each(distinct)('%s loads nothing from another origin and runs no script', async (path) => {
    const page = await get(path)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|script-src|https?:/)
    expect(page.text).not.toMatch(/<script|<img|<iframe|style="|\son[a-z]+="/)
    const loaded = [...page.text.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)]
    expect(loaded.map(([, href]) => href)).toEqual(['/docs/guide.css'])
  })

  test.each(distinct)('%s has no broken link', async (path) => {
    const { text } = await get(path)
    const links = [...text.matchAll(/href="(\/[^"#]*)/g)].map(([, to]) => to!)
    const { status } = await get('/docs/guide.css')
    expect(status).toBe(200)
    for (const to of new Set(links)) expect(`${to} ${(await get(to)).status}`).toBe(`${to} 200`)
  })

  test.each(distinct)('%s is served as Markdown with the URL of this service', async (path) => {
    const page = await get(`${path}.md`)
    expect(page.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(page.text).toMatch(/^# /)
    expect(page.text).not.toMatch(/\{base_url\}|<!--/)
    const links = [...page.text.matchAll(/\]\(([^)#]+)/g)].map(([, to]) => to!)
    for (const to of links) {
      expect(to).toStartWith(base)
      expect((await get(to.slice(base.length))).status).toBe(200)
    }
  })

  test('is listed in /llms.txt', async () => {
    const { text } = await get('/llms.txt')
    for (const path of distinct) expect(text).toContain(`(${base}${path}.md)`)
  })
})

test('every example appears unchanged on exactly one page of the guide', async () => {
  const shown = (await Promise.all(distinct.map((path) => get(`${path}.md`)))).map(({ text }) => text)
  for (const name of examples) {
    const text = await Bun.file(join(import.meta.dir, 'examples', name)).text()
    const times = shown.filter((page) => page.includes(text.trimEnd())).length
    expect(`${name} ${times}`).toBe(`${name} 1`)
  }
})

test('the errors page documents every error code and its remedy', async () => {
  const { text } = await get('/docs/guide/errors')
  for (const code of errorCodes) expect(text).toContain(`<h3 id="${code}">`)
  expect(text).toContain('<strong>403</strong>: verify your identity first')
})

test('an unknown guide path is not found', async () => {
  for (const path of ['/docs/guide/nothing', '/docs/guide/..%2fguide.ts', '/docs/guide/setup.ts'])
    expect((await get(path)).status).toBe(404)
})

test('the client package is one script and its types', async () => {
  const answer = await fixture.call('GET', '/docs/client.tgz')
  expect(answer.headers.get('content-type')).toBe('application/gzip')
  const files = await new Bun.Archive(await answer.bytes()).files()
  expect([...files.keys()].sort()).toEqual(['package/index.d.ts', 'package/index.js', 'package/package.json'])
  const manifest = await files.get('package/package.json')!.json()
  expect(manifest.exports['.']).toEqual({ types: './index.d.ts', default: './index.js' })
  expect(manifest).not.toHaveProperty('dependencies')
})
