import { createHash } from 'node:crypto';

/** Makes a source of random numbers, at least 0 and less than 1. Equal seeds and names make equal numbers. */
export const randomNumbers = (seed, name) => {
  let count = 0;
  return () => {
    count += 1;
    return (
      createHash('sha256').update(`${seed} ${name} ${count}`).digest().readUIntBE(0, 6) / 2 ** 48
    );
  };
};
