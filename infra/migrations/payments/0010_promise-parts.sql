CREATE TABLE "payments"."promise_parts" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "payments"."promise_parts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"micro" numeric(78,0) NOT NULL
);
--> statement-breakpoint
DROP INDEX "payments"."payments_promised";--> statement-breakpoint
CREATE INDEX "payments_credited" ON "payments"."payments" USING btree ("credited_at");--> statement-breakpoint
CREATE FUNCTION "payments"."promised_of"("p" "payments"."payments") RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  -- What a payment is owed on the chain, 10⁻⁶ AUSD: a checkout that may be paid, money that arrived, late
  -- money without a rate, and what a person has to see to; not money in which nothing was promised. Less
  -- what was refunded, and what of it is kept to make good an earlier loss.
  SELECT CASE WHEN p.state IN ('opening', 'awaiting_payment', 'paid') OR p.reason = 'awaiting_rate'
    OR (p.state = 'review' AND p.credited_at IS NULL AND p.provider_payment_id IS NOT NULL
      AND p.reason NOT IN ('amount_differs', 'currency_differs'))
  THEN greatest(0, div(p.ausd_micro * greatest(0, p.fiat_minor - p.refunded_minor), p.fiat_minor) - p.offset_micro)
  ELSE 0 END
$$;--> statement-breakpoint
CREATE FUNCTION "payments"."note_promise"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
DECLARE
  change numeric := payments.promised_of(new) - CASE WHEN tg_op = 'INSERT' THEN 0 ELSE payments.promised_of(old) END;
  part bigint;
BEGIN
  IF change = 0 THEN RETURN NULL; END IF;
  INSERT INTO payments.promise_parts (micro) VALUES (change) RETURNING id INTO part;
  -- One of many, now and then. Nobody waits here: what another transaction holds is left to the next.
  IF part % 64 = 0 THEN
    WITH gone AS (
      DELETE FROM payments.promise_parts WHERE id IN (SELECT id FROM payments.promise_parts FOR UPDATE SKIP LOCKED)
      RETURNING micro
    ) INSERT INTO payments.promise_parts (micro) SELECT sum(micro) FROM gone;
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
LOCK TABLE "payments"."payments" IN SHARE ROW EXCLUSIVE MODE;--> statement-breakpoint
INSERT INTO "payments"."promise_parts" ("micro") SELECT coalesce(sum(payments.promised_of(p)), 0) FROM "payments"."payments" p;--> statement-breakpoint
-- Without WHEN: it is planned anew for each statement, function and all, which takes ten times as long as the call.
CREATE TRIGGER "note_promise" AFTER INSERT OR UPDATE ON "payments"."payments" FOR EACH ROW EXECUTE FUNCTION payments.note_promise();
