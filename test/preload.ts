import { afterAll } from 'bun:test'
import { useFolderInMemory } from './runner/temporary'
import { closeSharedStack } from './support/stack'

useFolderInMemory()

afterAll(closeSharedStack)
