/** Which states may follow which. An empty row is terminal. */
export type Lifecycle<S extends string> = { readonly [state in S]: readonly S[] }

/** Says whether the table allows the step; the caller decides what a refusal means. */
export const canBecome = <S extends string>(lifecycle: Lifecycle<S>, from: S, to: S): boolean =>
  lifecycle[from].includes(to)

/** The states that lead to `to`: what a guarded update may leave. */
export const statesBefore = <S extends string>(lifecycle: Lifecycle<S>, to: S): S[] =>
  (Object.keys(lifecycle) as S[]).filter((from) => lifecycle[from].includes(to))
