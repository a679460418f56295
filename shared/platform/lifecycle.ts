/** Allowed transitions by state. A state with an empty list is terminal. */
export type Lifecycle<S extends string> = { readonly [state in S]: readonly S[] }

/** Returns whether the transition is allowed. */
export const canBecome = <S extends string>(lifecycle: Lifecycle<S>, from: S, to: S): boolean =>
  lifecycle[from].includes(to)

/** Returns the states that may become `to`, for the condition of a guarded update. */
export const statesBefore = <S extends string>(lifecycle: Lifecycle<S>, to: S): S[] =>
  (Object.keys(lifecycle) as S[]).filter((from) => lifecycle[from].includes(to))
