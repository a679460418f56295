import { dlopen, ptr } from 'bun:ffi'
import { closeSync, mkdirSync, openSync, truncateSync, writeFileSync } from 'node:fs'

/** An ext4 image on a loop device, mounted at `dir`. */
export type Disk = Disposable & {
  readonly dir: string
  readonly sync: () => void
  /** Shuts the file system down without writing anything in memory, not even the journal. */
  readonly cut: () => void
  /** Unmounts the disk once no process uses it. */
  readonly abandon: () => void
  /** Mounts the disk again, which replays the journal. */
  readonly mountAgain: () => void
}

const sizeBytes = 4 * 1024 ** 3
/** Request and flag from Linux's fs/ext4/ext4.h: `_IOR('X', 125, __u32)` and `EXT4_GOING_FLAGS_NOLOGFLUSH`. */
const shutdownRequest = 0x8004587dn
const withoutFlush = 2

/** Makes a disk, which needs root and loop devices. */
export function makeDisk(work: string): Disk {
  const [image, dir] = [`${work}/disk.img`, `${work}/disk`]
  writeFileSync(image, '')
  truncateSync(image, sizeBytes)
  mkdirSync(dir)
  run('mkfs.ext4', '-q', image)
  const mount = () => run('mount', '-o', 'loop', image, dir)
  const unmount = () => run('umount', dir)
  mount()
  return {
    dir,
    sync: () => run('sync', '-f', dir),
    cut: () => shutDown(dir),
    abandon: () => run('umount', '--lazy', dir),
    mountAgain: () => {
      unmount()
      mount()
    },
    [Symbol.dispose]: unmount,
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
