/** The contract, run against the S3 adapter on a strict fake. */
import { harnessOf } from '../../contracts/object-store/harness.ts'
import { interleavingCases } from '../../contracts/object-store/interleaving.ts'
import { objectStoreContract } from '../../contracts/object-store.ts'
import { onFake } from '../../support/s3/on-fake.ts'
import { openS3UnderTest } from '../../support/s3/under-test.ts'

const { service } = onFake()
const open = () => openS3UnderTest(service())
objectStoreContract('s3 on the fake', open)
interleavingCases(harnessOf(open), 1)
