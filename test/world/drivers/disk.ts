import { dlopen, ptr } from 'bun:ffi'
import { closeSync, existsSync, mkdirSync, openSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { asRoot } from '#infra/local/folders'

/** An ext4 image on a loop device, mounted over a folder. Its disposal unmounts it once no process uses it. */
export type Disk = Disposable & {
  /** Shuts the file system down without writing anything in memory, not even the journal. */
  readonly cut: () => void
  /** Mounts the disk again, which replays the journal. No process may use it. */
  readonly mountAgain: () => void
}

/** Returns true if this machine and user can make disks. */
export const canMakeDisks = (): boolean => asRoot && Bun.which('mkfs.ext4') !== null && existsSync('/dev/loop-control')

const sizeBytes = 4 * 1024 ** 3
/** Request and flag from Linux's fs/ext4/ext4.h: `_IOR('X', 125, __u32)` and `EXT4_GOING_FLAGS_NOLOGFLUSH`. */
const shutdownRequest = 0x8004587dn
const withoutFlush = 2

/** Moves a folder that no process uses to a disk of its own, on which all of it is synced. `image` is the disk's file. */
export function moveToDisk(dir: string, image: string): Disk {
  const mount = (at: string) => run('mount', '-o', 'loop', image, at)
  const fresh = `${image}.new`
  writeFileSync(image, '')
  truncateSync(image, sizeBytes)
  run('mkfs.ext4', '-q', image)
  mkdirSync(fresh)
  mount(fresh)
  try {
    run('cp', '-a', `${dir}/.`, fresh)
  } finally {
    run('umount', fresh) // This syncs it.
  }
  mount(dir)
  return {
    cut: () => shutDown(dir),
    mountAgain: () => {
      run('umount', dir)
      mount(dir)
    },
    [Symbol.dispose]: () => {
      run('umount', '--lazy', dir)
      rmSync(image)
    },
  }
}

function shutDown(dir: string): void {
  const libc = dlopen('libc.so.6', { ioctl: { args: ['i32', 'u64', 'ptr'], returns: 'i32' } })
  const file = openSync(dir, 'r')
  try {
    const code = libc.symbols.ioctl(file, shutdownRequest, ptr(new Uint32Array([withoutFlush])))
    if (code !== 0) throw new Error('the kernel refused to shut down the file system (root only)')
  } finally {
    closeSync(file)
    libc.close()
  }
}

function run(...words: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(words)
  if (exitCode !== 0) throw new Error(`${words.join(' ')}: ${stderr.toString().trim()} (needs root and loop devices)`)
}
