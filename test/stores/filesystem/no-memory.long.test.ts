/** The contract again, without the hot set, so that every read comes from a file. */
import { objectStoreContract } from '../../contracts/object-store.ts'
import { openSubject } from './subject.ts'

objectStoreContract('filesystem without hot set', () => openSubject(0), { modelRuns: 5 })
