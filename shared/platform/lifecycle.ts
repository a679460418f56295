/** The following states of each state. A state with an empty list is terminal. */
export type Lifecycle<S extends string> = { readonly [state in S]: readonly S[] }

export const canBecome = <S extends string>(lifecycle: Lifecycle<S>, from: S, to: S): boolean =>
  lifecycle[from].includes(to)

export const statesBefore = <S extends string>(lifecycle: Lifecycle<S>, to: S): S[] =>
  (Object.keys(lifecycle) as S[]).filter((from) => lifecycle[from].includes(to))
