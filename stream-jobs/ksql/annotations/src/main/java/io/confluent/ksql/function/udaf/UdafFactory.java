package io.confluent.ksql.function.udaf;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a static method that creates an aggregate function. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface UdafFactory {

  String description();

  String[] paramSchema() default "";

  String aggregateSchema() default "";

  String returnSchema() default "";
}
