import type { Command } from '#infra/local/child'

/**
 * Returns a command whose syncs to the disk take `ms` longer, also those of its children, by strace(1). The kernel stops the
 * process at these calls alone, so that everything else costs the same.
 */
export const onSlowDisk = (command: Command, ms: number): Command => ({
  ...command,
  bin: 'strace',
  args: [
    '-D', // The process keeps its parent and id; strace is its grandchild.
    '-f',
    '--seccomp-bpf',
    '-qqq',
    '-o',
    '/dev/null',
    '-e',
    `trace=${syncs}`,
    '-e',
    `inject=${syncs}:delay_exit=${ms * 1_000}`,
    command.bin,
    ...command.args,
  ],
})

const syncs = 'fsync,fdatasync'
