import { afterAll } from 'bun:test'
import { closeSharedStack } from './support/stack'
import { folderInMemory } from './support/temporary'

const folder = process.env.TMPDIR ? undefined : folderInMemory()
if (folder) process.env.TMPDIR = folder

afterAll(closeSharedStack)
