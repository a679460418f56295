/** A question during an incident, and the words after `bun run ops`. */
export type ListedQuestion = { readonly question: string; readonly words: readonly string[] }

/** Questions of the runbook. `<id>` stands for any id that `trace` understands. */
export const questions: readonly ListedQuestion[] = [
  { question: 'Is money moving, and does anything need attention?', words: ['status'] },
  { question: 'Where is the money of this payment or cash-out?', words: ['trace', '<id>'] },
  { question: 'Which items are late?', words: ['in-flight'] },
  { question: 'Where is every unit of money, and which items are open?', words: ['books'] },
  { question: 'Do rows, journals, chain and provider agree?', words: ['reconcile'] },
  { question: 'Which messages were dead-lettered?', words: ['dead-letters', 'list'] },
  { question: 'Which payments need manual review?', words: ['review', 'list'] },
  { question: 'Which deposits to the treasury are unexplained?', words: ['unexplained', 'list'] },
  { question: 'Which commands did operators run, and why?', words: ['commands'] },
  { question: 'How long until the disk is full?', words: ['growth', '--free', '50'] },
]
