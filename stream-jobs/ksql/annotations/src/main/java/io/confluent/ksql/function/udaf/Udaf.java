package io.confluent.ksql.function.udaf;

/**
 * An aggregate function, as far as ours implement it: ksqlDB's own interface has default methods besides.
 *
 * @param <I> the type of a value
 * @param <A> the type of the state
 * @param <O> the type of the result
 */
public interface Udaf<I, A, O> {

  A initialize();

  A aggregate(I current, A aggregate);

  A merge(A aggOne, A aggTwo);

  O map(A agg);
}
