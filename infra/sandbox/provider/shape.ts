import { isObject, type JsonObject } from '../json'
import { Problem, type ProblemDetail } from './problem'

export type Shape = {
  text(name: string, rule?: { required?: boolean; max?: number }): string | null
  word<W extends string>(name: string, words: readonly W[], required?: boolean): W | null
  number(name: string, required?: boolean): number | null
  object(name: string, required?: boolean): JsonObject
  texts(name: string): string[]
  done(): void
}

export function shapeOf(body: JsonObject, path = '/body', wrong: ProblemDetail[] = []): Shape {
  const fault = (name: string, message: string) => {
    wrong.push({ path: `${path}/${name}`, message })
    return null
  }
  /** Reads a field. Null stands only for an absent optional field. */
  const given = (name: string, required: boolean): unknown => {
    const value = Object.hasOwn(body, name) ? body[name] : undefined
    if (required && value === undefined) fault(name, `must have required property '${name}'`)
    return required ? value : (value ?? undefined)
  }
  return {
    text(name, { required = false, max = Number.POSITIVE_INFINITY } = {}) {
      const value = given(name, required)
      if (value === undefined) return null
      if (typeof value !== 'string') return fault(name, 'must be string')
      if (value.length < 1) return fault(name, 'must NOT have fewer than 1 characters')
      if (value.length > max) return fault(name, `must NOT have more than ${max} characters`)
      return value
    },
    word(name, words, required = false) {
      const value = given(name, required)
      if (value === undefined) return null
      const word = words.find((candidate) => candidate === value)
      return word ?? fault(name, 'must be equal to one of the allowed values')
    },
    number(name, required = false) {
      const value = given(name, required)
      if (value === undefined) return null
      if (typeof value !== 'number') return fault(name, 'must be number')
      return value < 0 ? fault(name, 'must be >= 0') : value
    },
    object(name, required = false) {
      const value = given(name, required)
      if (value === undefined) return {}
      if (isObject(value)) return value
      fault(name, 'must be object')
      return {}
    },
    texts(name) {
      const value = given(name, false) ?? []
      if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
      fault(name, 'must be array of strings')
      return []
    },
    done() {
      const [first] = wrong
      if (!first) return
      const where = `request${first.path.replace(/\/[^/]*$/, '')}`
      const what = first.message.startsWith('must have required')
        ? `${where} ${first.message}`
        : `request${first.path} ${first.message}`
      throw new Problem('API_VALIDATION_ERROR', what, wrong)
    },
  }
}
