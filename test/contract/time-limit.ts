/** What `work` comes to; rejects when it takes longer. What goes on then is on its own: nobody waits for it. */
export async function within<T>(milliseconds: number, what: string, work: Promise<T>): Promise<T> {
  if (milliseconds === Infinity) return work;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} within ${milliseconds / 1000} s`)), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
