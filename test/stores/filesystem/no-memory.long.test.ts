/** The contract once more, by a store that keeps no image in memory: each read is of a file. */
import { objectStoreContract } from '../../contracts/object-store.ts'
import { openSubject } from './subject.ts'

objectStoreContract('filesystem without memory', () => openSubject(0), { modelRuns: 5 })
