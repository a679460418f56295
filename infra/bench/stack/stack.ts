import type { Figure } from '../figure.ts'
import type { Options } from '../options.ts'
export async function benchStack(_options: Options, _say: (line: string) => void): Promise<Figure[]> { return [] }
