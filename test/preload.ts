import { afterAll } from 'bun:test'
import { folderInMemory } from './runner/temporary'
import { closeSharedStack } from './support/stack'

const folder = process.env.TMPDIR ? undefined : folderInMemory()
if (folder) process.env.TMPDIR = folder

afterAll(closeSharedStack)
