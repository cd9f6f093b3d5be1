import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for `using`, which removes it at the end of the block. */
export const temporaryFolder = () => mkdtempDisposableSync(join(tmpdir(), 'animal-store-'));
