/** Of one number or more; of an even count the greater one in the middle. */
export const median = (numbers) =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];
