-- What was `desc nulls last` serves no `order by … desc`: each page read all that its wallet ever cashed out.
DROP INDEX "payouts"."payouts_activity";--> statement-breakpoint
CREATE INDEX "payouts_activity" ON "payouts"."payouts" USING btree ("wallet","created_at","id");