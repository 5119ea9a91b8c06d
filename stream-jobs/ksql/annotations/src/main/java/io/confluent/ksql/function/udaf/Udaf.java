package io.confluent.ksql.function.udaf;

/**
 * The part of ksqlDB's aggregate function interface that our functions implement; ksqlDB's own also has default
 * methods.
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
